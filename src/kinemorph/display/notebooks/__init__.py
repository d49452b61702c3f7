"""What notebooks show: cards with a picture and tables, without a script.

card_of         the card of any object, by its type
model_cards     robots, systems, dynamics, plants; small equations
module_cards    assemblies and kinds of modules
run_cards       runs, with sparklines
verdict_cards   verifications, audits, poles, equilibria
thumbnails      small pictures
"""
