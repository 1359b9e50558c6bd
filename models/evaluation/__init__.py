"""What answers are worth against known truths: figures with their uncertainty (SRV-19, S1-14).

Values in, values out: nothing here reads a file, asks a model or knows an engine. The order is
``truth`` (labelled lines), ``judged`` (an answer beside its truth), ``figures`` of each type,
``intervals``, ``report``.
"""
