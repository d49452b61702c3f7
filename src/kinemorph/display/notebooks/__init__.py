"""Cards for Jupyter notebooks, HTML with a picture and tables, without scripts; and a live widget.

card_of         the card of any object, by its type
model_cards     cards of systems, dynamics and plants, with the equations of small robots
module_cards    cards of assemblies and kinds of modules
stage_widget    a replay as a widget that Python moves; its script is in page/
"""
