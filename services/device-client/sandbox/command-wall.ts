/** Where a call says behind which `CommandWall` it belongs, beside its arguments. */
export const WALL_META = 'orrery/wall';
