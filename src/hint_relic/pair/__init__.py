"""An input and its view, to be looked at: what was added and what is contrasted. No JAX here."""
