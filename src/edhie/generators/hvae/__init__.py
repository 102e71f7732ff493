"""The hierarchical variational autoencoder: trained with torch, used with NumPy alone."""
