"""The configuration that the real Trainer gets."""

from toolkit.simulator.actors import trainer


def test_trainer_keeps_its_configuration_but_for_where_it_listens() -> None:
    """Its election happens in its own namespace, which a process outside the cluster does not know."""
    given = {
        "webhook": {"port": 9443},
        "metrics": {"bindAddress": ":8080"},
        "leaderElection": {"leaderElect": True},
        "certManagement": {"enable": False},
    }
    found = trainer.listening(given, "kubeflow-system", 21000)
    assert found["webhook"] == {"host": "127.0.0.1", "port": 21000}
    assert found["metrics"]["bindAddress"] == found["health"]["healthProbeBindAddress"] == "0"
    assert found["leaderElection"] == {"leaderElect": True, "resourceNamespace": "kubeflow-system"}
    assert found["certManagement"] == given["certManagement"]
    assert "leaderElection" not in trainer.listening({}, "kubeflow-system", 21000)
