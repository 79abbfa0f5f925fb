// removed
