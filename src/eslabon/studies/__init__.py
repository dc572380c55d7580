"""Reports: what there is to know of a mechanism, set out for a person.

`study` is one page of everything (`sections` holds its sections, one file each), `describe` tables for the terminal,
and `demo` the first job anyone sees.
"""

from eslabon.studies.whole_study import Study, study

__all__ = ["Study", "study"]
