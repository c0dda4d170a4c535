"""The site's configuration for Sphinx: ``make docs`` builds it, without a network and with warnings as errors."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import perudo_env  # noqa: E402
from tools import parts, site  # noqa: E402

site.write(HERE / "_generated")

project = "perudo-env"
author = "The perudo-env maintainers"
project_copyright = "MIT licence"
version = release = perudo_env.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["substitution", "colon_fence"]
myst_substitutions = {name: parts.made(name) for name in parts.PARTS}
myst_heading_anchors = 3
exclude_patterns = ["_generated/observed.md"]

html_theme = "furo"
html_title = f"perudo-env {release}"
html_extra_path = ["tournament.html"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Int8Array": "Int8Array", "FloatArray": "FloatArray"}
