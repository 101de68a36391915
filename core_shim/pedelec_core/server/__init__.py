"""What Core serves over loopback HTTP: the page socket, the site, the SDK and the Pyodide bundle."""
