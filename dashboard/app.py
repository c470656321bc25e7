"""What Streamlit runs. `alphaagent dashboard` starts it with everything that it needs."""

from dashboard.shell import run

run()
