"""The texts of reports in each language, and how numbers are written.

words    `Words`: the text of a key, numbers, counts and lists in one language
sentences   sentences of other rooms, with their numbers and names, in the language of a report
french   the table of the French texts, by subject
"""
