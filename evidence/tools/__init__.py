"""One parser a tool. A tool that is to be read is added here."""

from evidence.parser import Parser
from evidence.tools.cuda_vector_add import CudaVectorAddParser
from evidence.tools.deeplearningexamples import DeepLearningExamplesParser
from evidence.tools.device_plugin import DevicePluginParser
from evidence.tools.horovod_synthetic import HorovodSyntheticParser
from evidence.tools.mllog import MlLogParser
from evidence.tools.tf_cnn_benchmarks import TfCnnParser

PARSERS: tuple[type[Parser], ...] = (
    CudaVectorAddParser,
    DeepLearningExamplesParser,
    DevicePluginParser,
    HorovodSyntheticParser,
    MlLogParser,
    TfCnnParser,
)
"""All parsers; where two begin alike, the first that matches is taken."""
