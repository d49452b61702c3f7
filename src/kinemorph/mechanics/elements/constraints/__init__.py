"""Laws of constraints: points that are guided, wheels that roll, motions that are prescribed, equations of the user."""
