"""What runs within the sandbox, without any other part of Moot: it may import only its neighbours."""
