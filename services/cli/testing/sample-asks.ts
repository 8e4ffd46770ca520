import { sampleAsks } from '#libs/testing';

/** What an agent asks of a person. */
export const { APPROVAL_ID, COMMAND_ASK, QUESTION_ASK, approvalOf, MODEL_CALL, ASKED_STEP } = sampleAsks;
