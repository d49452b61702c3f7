"""The signature of a report: what it states about its model, attached to the report so that it can be checked again.

verdicts          the verdict as a file, with digests, and the text of the model
sealed            the last line of a report, which tells whether the report was changed
pdf_attachments   files that are attached to a PDF
report_files      the verdict and the model of a report, from its file
verify_report     `verify_report`: computes the rows of a report again and names those that no longer hold
"""
