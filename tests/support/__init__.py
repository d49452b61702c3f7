"""What tests lean on: nothing here is a test.

references/   independent solutions: the same physics by other means, none of which is the package's
cases/        inputs, situations and expectations that several test files share
robots/       robots: random, hard, stored, out of files
peers/        Pinocchio, MuJoCo and Drake, with every answer in our convention
tools/        the command line, a browser, every way to run a program
"""
