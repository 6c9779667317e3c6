package peer
