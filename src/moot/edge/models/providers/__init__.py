"""One file per provider, named after it; a walk of this folder finds its `PROVIDER`. A file is light: client code is
imported when a model is opened."""
