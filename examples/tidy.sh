#!/bin/sh
# Free some space.
echo "tidying up"
rm -rf "$CACHE_DIR"/*
