"""What tests lean on: nothing here is a test.

references/   independent solutions: the same physics by other means, none of which is the package's
cases/        inputs, situations and expectations that several test files share
robots/       robots: random, hard, stored, out of files
peers/        Pinocchio, MuJoCo and Drake, with every answer in our convention
texts/        model files as texts: SDF, TOML and URDF out of a few words
pages/        the viewer and packed scenes, as a page has them
codegen/      code that is compiled and kept
studio/       documents, commands and pages of the studio
serving/      attacks on the server of pages, and switches that turn its guards off
studies/      small studies, killed ones, their stores, and functions whose sensitivity is known
tools/        the command line, a browser, every way to run a program
"""
