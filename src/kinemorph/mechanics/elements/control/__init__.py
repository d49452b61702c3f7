"""Laws of controllers and of the references that they follow."""
