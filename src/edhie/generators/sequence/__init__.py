"""The paper's two baselines: autoencoders of sequences, of a grammar's rules (GVAE) or of infix tokens (CVAE)."""
