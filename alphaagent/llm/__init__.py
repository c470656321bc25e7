"""Model providers as data: where they are, how they spell a request's bound and a reply, and what they charge. No socket is opened here."""
