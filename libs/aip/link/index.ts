/**
 * The dialling end of a connection, for devices and for constellations: registers, resumes, dials again.
 */
