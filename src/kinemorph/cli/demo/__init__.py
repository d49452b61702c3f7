"""`kinemorph demo`: derives and verifies a crawling organism or any robot, and writes pictures and reports."""
