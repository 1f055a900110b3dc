"""Interstice from Python: positions as numpy arrays, over HTTP (standard library) or gRPC (grpcio).

    with Client("http://127.0.0.1:8080").session(triangles, start) as session:
        result = session.step(target)
"""

from .client import Client
from .errors import ServiceError
from .job import Job, JobStatus
from .retry import Retry
from .session import Session
from .tls import Tls
from .types import FrameLoss, Mesh, Progress, RestLengths, StepResult, StrainLimits, UntangleProgress, UntangleResult

__all__ = ["Client", "FrameLoss", "Job", "JobStatus", "Mesh", "Progress", "RestLengths", "Retry", "ServiceError", "Session", "StepResult",
           "StrainLimits", "Tls", "UntangleProgress", "UntangleResult"]
