"""Facts about models that no price list states: size, licence, architecture, files, developer."""
