"""What an operator does besides deciding: open and fund portfolios, look at the books, pull the kill switch, check the installation."""
