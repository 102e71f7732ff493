"""The hierarchical variational autoencoder: trained with torch, used without."""
