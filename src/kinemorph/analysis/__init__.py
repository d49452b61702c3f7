"""What it means: finished results in, a verdict out.

verification   `verify`: every law that a derived model must obey, checked at random states
laws           the laws of mechanics as checks, one row each
origins        the laws that tie a derived model to the robot it came from
declared       poses, mass matrix and potential energy straight from a Robot's data
sampling       a model at random states; relative errors and exact rates of change
verdict        a check, and the list of them with a yes or no
reaching       `inverse_kinematics`: the configuration that puts frames where they are wanted
descent        damped Gauss-Newton steps on a manifold, within limits
ranges         where q may go: limits, couplings, unit quaternions
"""
