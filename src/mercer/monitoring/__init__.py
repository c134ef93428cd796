"""Monitoring of processes: alarms with a known rate for rows that follow each other in time."""
