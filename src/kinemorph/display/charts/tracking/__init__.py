"""Pictures of robots that follow recorded markers.

tracking_plots    the model over the markers, angles with intervals, residuals
"""
