"""Privacy loss as a value: headline parameters, curves and their composition."""
