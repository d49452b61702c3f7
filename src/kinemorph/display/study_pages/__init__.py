"""Pages of studies: one HTML file with pictures and a table of items, whose kept runs are opened as replays.

study_page     `write_study_page`: the page and its replays
page/          its HTML, style, and the script that sorts the table
"""
