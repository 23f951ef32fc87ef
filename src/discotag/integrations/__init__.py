"""discotag inside other libraries, a module per library, which is imported only there."""
