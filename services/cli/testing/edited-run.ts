import { editedRun } from '#libs/testing';

/** A run that is edited while it runs, to be altered. */
export const { AT, LATE, RUN, OPERATOR, PLANNER, recordsOf, star, line, Told, edited, groupsOf, altered, dataOf } =
  editedRun;
