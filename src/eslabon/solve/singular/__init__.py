"""How near a configuration is to singular, and what is lost and gained there."""
