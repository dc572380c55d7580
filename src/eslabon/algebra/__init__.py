"""Rotations and their invariants, quaternions, rigid motions: pure formulas on numbers and symbols alike.

A name imported as itself is one that users may have.
"""

# ruff: noqa: I001
from eslabon.algebra.motions import (
    adjoint as adjoint,
    bracket as bracket,
    check_pose as check_pose,
    cobracket as cobracket,
    hat as hat,
    motion_exp as motion_exp,
    motion_log as motion_log,
    pose as pose,
    pose_inverse as pose_inverse,
    position_of as position_of,
    rotation_of as rotation_of,
    vee as vee,
)
from eslabon.algebra.quaternions import (
    axis_angle_from_quaternion as axis_angle_from_quaternion,
    invariants_from_quaternion as invariants_from_quaternion,
    quaternion_about as quaternion_about,
    quaternion_conjugate as quaternion_conjugate,
    quaternion_from_axis_angle as quaternion_from_axis_angle,
    quaternion_from_invariants as quaternion_from_invariants,
    quaternion_from_rodrigues as quaternion_from_rodrigues,
    quaternion_from_rotation_vector as quaternion_from_rotation_vector,
    quaternion_from_vector as quaternion_from_vector,
    quaternion_inverse as quaternion_inverse,
    quaternion_normalize as quaternion_normalize,
    quaternion_product as quaternion_product,
    quaternion_rate as quaternion_rate,
    quaternion_rotate as quaternion_rotate,
    rodrigues_from_quaternion as rodrigues_from_quaternion,
    rotation_vector_from_quaternion as rotation_vector_from_quaternion,
    slerp as slerp,
    vector_part as vector_part,
)
from eslabon.algebra.rotations import (
    REPRESENTATIONS as REPRESENTATIONS,
    bryant_from_rotation as bryant_from_rotation,
    check_rotation as check_rotation,
    convert as convert,
    euler_from_rotation as euler_from_rotation,
    invariants_from_rotation as invariants_from_rotation,
    quaternion_from_rotation as quaternion_from_rotation,
    rotation_about as rotation_about,
    rotation_from_axis_angle as rotation_from_axis_angle,
    rotation_from_bryant as rotation_from_bryant,
    rotation_from_euler as rotation_from_euler,
    rotation_from_invariants as rotation_from_invariants,
    rotation_from_quaternion as rotation_from_quaternion,
    rotation_from_rotation_vector as rotation_from_rotation_vector,
    rotation_from_rpy as rotation_from_rpy,
    rotation_from_unit_quaternion as rotation_from_unit_quaternion,
    rotation_x as rotation_x,
    rotation_y as rotation_y,
    rotation_z as rotation_z,
    rpy_from_rotation as rpy_from_rotation,
    trace as trace,
    vect as vect,
)
