"""Tribo: a robot simulator for stiff frictional contact."""
