"""Rules for roles, bindings, secrets and admission."""
