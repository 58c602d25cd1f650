"""The mathematics under the speed decision: exact logarithms, bets, sizes, scatter, replay."""
