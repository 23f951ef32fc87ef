"""discotag inside other libraries, a module per library; and the status of mentions."""
