"""The Redpaper's three printed queries and answers, as it prints them."""

SHARE = """select sum(int(t_rd_normal_street.value)) /
       ((count(t_rd_normal_street.value)*1920*1208)/100)
from t_rd_normal_street
with ur;
"""
BICYCLES = """select platform,datasource,filename
from metaocean,t_front,t_center,t_bicycle
where t_front.fkey=metaocean.fkey and int(t_front.value)=1
  and t_center.fkey=metaocean.fkey and int(t_center.value)=1
  and t_bicycle.fkey=metaocean.fkey and int(t_bicycle.value)>0
"""
WINDOW = """select platform,datasource,filename
from metaocean,t_front,t_center,t_car,t_bicycle,t_pedestrian
where t_front.fkey=metaocean.fkey and int(t_front.value)=1
  and t_center.fkey=metaocean.fkey and int(t_center.value)=1
  and t_car.fkey=metaocean.fkey and int(t_car.value)>=10000 and int(t_car.value)<=20000
  and t_bicycle.fkey=metaocean.fkey and int(t_bicycle.value)>=3000 and int(t_bicycle.value)<=5000
  and t_pedestrian.fkey=metaocean.fkey and int(t_pedestrian.value)>=500 and int(t_pedestrian.value)<=6000
"""
PRINTED_BICYCLES = """
0,"IBM COS","a2d2","camera_lidar_semantic/20181107_133445/camera/cam_front_center/20181107133445_camera_frontcenter_000021093.png"
1,"IBM COS","a2d2","camera_lidar_semantic/20181107_132300/camera/cam_front_center/20181107132300_camera_frontcenter_000001645.png"
2,"IBM COS","a2d2","camera_lidar_semantic/20181107_132300/camera/cam_front_center/20181107132300_camera_frontcenter_000004159.png"
3,"IBM COS","a2d2","camera_lidar_semantic/20181107_132300/camera/cam_front_center/20181107132300_camera_frontcenter_000002707.png"
4,"IBM COS","a2d2","camera_lidar_semantic/20181107_132300/camera/cam_front_center/20181107132300_camera_frontcenter_000004093.png"
"""  # noqa: E501 - as it is printed
PRINTED_WINDOW = """
0, "IBM COS", "a2d2", "camera_lidar_semantic/20181008_095521/camera/cam_front_center/20181008095521_camera_frontcenter_000038997.png"
1, "IBM COS", "a2d2", "camera_lidar_semantic/20180925_135056/camera/cam_front_center/20180925135056_camera_frontcenter_000062196.png"
2, "IBM COS", "a2d2", "camera_lidar_semantic/20181016_125231/camera/cam_front_center/20181016125231_camera_frontcenter_000005145.png"
3, "IBM COS", "a2d2", "camera_lidar_semantic/20180807_145028/camera/cam_front_center/20180807145028_camera_frontcenter_000010529.png"
4, "IBM COS", "a2d2", "camera_lidar_semantic/20181008_095521/camera/cam_front_center/20181008095521_camera_frontcenter_000031069.png"
5, "IBM COS", "a2d2", "camera_lidar_semantic/20181016_095036/camera/cam_front_center/20181016095036_camera_frontcenter_000041815.png"
6, "IBM COS", "a2d2", "camera_lidar_semantic/20181016_095036/camera/cam_front_center/20181016095036_camera_frontcenter_000020381.png"
7, "IBM COS", "a2d2", "camera_lidar_semantic/20180925_124435/camera/cam_front_center/20180925124435_camera_frontcenter_000045908.png"
8, "IBM COS", "a2d2", "camera_lidar_semantic/20180925_124435/camera/cam_front_center/20180925124435_camera_frontcenter_000043968.png"
"""  # noqa: E501 - as it is printed


def printed(text: str) -> set[tuple[str, ...]]:
    """Return the rows of a printed answer without their numbers: the queries ask for no order."""
    return {tuple(part.strip(' "') for part in line.split(",")[1:]) for line in text.strip().splitlines()}
