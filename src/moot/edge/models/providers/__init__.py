"""One file for each provider, named as it is: `PROVIDER` in it is found by the walk of this folder. A file is light:
what asks the model is imported when one is opened."""
