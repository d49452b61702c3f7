"""What travels between the server and pages beside questions and answers: 3-D scenes, and files in both directions.

pictures    which 3-D scene each page sees
downloads   files that are offered to pages, and files that pages send
"""
