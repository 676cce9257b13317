"""The studio: one local page on which rainbow privacy is seen, tuned and exported.

===============  ================================================================
``worlds``       what the page draws: a graph, its picture, and where it came from
``examples``     the worlds that are shipped
``drawing``      a graph as people write and draw it, in lines of text
``edits``        one change to a drawing
``loading``      a world from a mechanism file or a drawing
``settings``     what the page asked for, checked
``story``        twelve friends vote: the numbers of the story, and its page as one file
``asking``       a question of one's own, with made-up counts
``connections``  which of too many connections has to go
``answers``      the library's numbers for a world and settings, ready for JSON
``looking``      what neighbors give away
``recipe``       the lines of Python that do the same
``guard``        who may talk to the server, and how much
``computing``    the loaded worlds, and the processes in which numbers are computed
``server``       the addresses
===============  ================================================================

Everything that is computed is computed by the library, so page and library cannot disagree.
"""
