"""Arrays that several layers share: modes of networks, and another proof of what they answer."""
