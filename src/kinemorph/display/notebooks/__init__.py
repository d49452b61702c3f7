"""What notebooks show: cards with a picture and tables, without a script.

model_cards        robots, systems, dynamics, plants; small equations
run_cards          runs, with sparklines
verdict_cards      verifications, audits, poles, equilibria
cards              pieces of HTML that all cards are made of
thumbnails         small pictures; `sticks` draws robots with very many parts
formula_outlines   equations as outlines, which no front end has to typeset
"""
