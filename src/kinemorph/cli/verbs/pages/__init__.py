"""Verbs whose results are looked at: pictures, pages, reports, and the studio in the browser."""
