/** Every bound of the system that crosses a wire, with its unit in the name. */
export const LIMITS = {
  requestBytesMax: 1024 * 1024,
  /** A session of a browser ends when it is not used for so long, and at the latest. */
  sessionIdleMs: 2 * 60 * 60 * 1000,
  sessionMs: 12 * 60 * 60 * 1000,
  /** How exactly it is known when a session was used last. */
  sessionSeenMs: 60 * 1000,
  /** Between leaving for an identity provider and coming back. */
  loginMs: 10 * 60 * 1000,
  /** Between making a code that logs in at the console and using it. */
  loginCodeMs: 2 * 60 * 1000,
  tasksMax: 2_000,
  linesMax: 10_000,
  /** Primitives of one proposal, and their size as JSON. */
  editsMax: 2_000,
  editBytesMax: 512 * 1024,
  /** Tries of a round after the first: then it is abandoned. */
  repairsMax: 3,
  /** Edit rounds of one run in which a model may be asked. */
  roundsMax: 10_000,
  /** Work of one run that may be done at a time. */
  concurrencyMax: 10_000,
  conditionCharsMax: 500,
  /** The whole of a value, as JSON, over which a condition is judged; over a larger one it is undecided. */
  conditionBytesMax: 64 * 1024 * 1024,
  /** Values inside of it, and lines or parts of a text: what a list in a condition may have. */
  conditionItemsMax: 1_000_000,
  /** Judging takes no longer; then it is undecided. */
  conditionMs: 10_000,
  /** A pattern of `matches`, and the instructions it compiles to. */
  patternCharsMax: 250,
  patternInstructionsMax: 1_000,
  /** Conditions with patterns that one request or edit may bring: each is compiled before anything else is looked at. */
  patternsMax: 200,
  commitBytesMax: 2 * 1024 * 1024,
  /** A signed command, as JSON, that stays whole with what came of it; of a larger one its hash stays. */
  proofBodyBytesMax: 128 * 1024,
  /** A result inside an event, as JSON; longer strings are cut to head and tail and the whole goes to ARTIFACTS. */
  resultBytesMax: 16 * 1024,
  aipFrameBytesMax: 1024 * 1024,
  natsPayloadBytesMax: 8 * 1024 * 1024,
  attemptsMax: 10,
  timeoutMsMax: 24 * 60 * 60 * 1000,
  /** No due message is armed further ahead than this; it is armed again when it fires. */
  wakeUpMsMax: 60 * 60 * 1000,
  /** A run that waits for a device or a slot looks again at the latest after this. */
  waitingPollMs: 5_000,
  /** Reasons of one commit why tasks wait, each for all that ask for the same. */
  waitReasonsMax: 20,
  waitReasonCharsMax: 600,
  /** How long a device may take to end a stopped attempt before its outcome is unknown. */
  stopGraceMs: 10_000,
  /** Attempts of one task that end before anything of them reached a device; each one after that counts as a try. */
  unsentAttemptsMax: 16,
  /** A device whose presence vanished is suspect for this long, then lost. */
  deviceGraceMs: 60_000,
  /** A join token is used within this time, once. */
  joinTokenMs: 15 * 60 * 1000,
  /** A credential of a device is renewed when a third of this is left. */
  credentialMs: 60 * 60 * 1000,
  /** An assertion signed with a device's key is good for this long. */
  assertionMs: 60 * 1000,
  /** A file that a device sends or gets. */
  fileBytesMax: 1024 * 1024 * 1024,
  /** Files of a task, and all of them together; what a device keeps free beside them. */
  filesMax: 100,
  filesBytesMax: 4 * 1024 * 1024 * 1024,
  fileDiskBytesFree: 256 * 1024 * 1024,
  /** A path of a file below a workspace, and a pattern of such; how many patterns a task has. */
  filePathCharsMax: 512,
  fileDirectoriesMax: 16,
  filePatternCharsMax: 256,
  filePatternsMax: 20,
  /** Workspaces of one device that are listed, the oldest ones. */
  workspacesListedMax: 500,
  /** A workspace that no server has asked for goes after this long; until then a device is told that its run has ended. */
  workspaceUnusedMs: 7 * 24 * 60 * 60 * 1_000,
  /** What a task takes of its predecessors, all of them together. */
  inputBytesMax: 1024 * 1024 * 1024,
  stdinPartsMax: 4_000,
  /** Strings that a device names when it had to cut them. */
  incompletePathsMax: 100,
  /** Files that one result names. */
  resultFilesMax: 50,
  /** Pictures that one fact of an attempt says are dropped. */
  picturesDroppedMax: 500,
  presenceTtlMs: 10_000,
  memberTtlMs: 2_000,
  /** A grant that an approval gives lasts no longer. */
  grantMsMax: 8 * 60 * 60 * 1000,
  /** Persons that a command of an agent may need at most, and words about one command. */
  approvalsMax: 9,
  approvalWordsMax: 100,
  /** Standing approvals of one person that count; what each says it is for; how long one may count. */
  contentApprovalsMax: 200,
  contentAboutCharsMax: 8 * 1024,
  contentApprovalMsMax: 366 * 24 * 60 * 60 * 1000,
  /** Steps of one attempt of an agent. */
  stepsMax: 200,
  /** A reply of a model; a longer one is refused. */
  replyBytesMax: 256 * 1024,
  /** Pictures that one prompt shows, and bytes of each: more is left out, and the model is told. */
  promptImagesMax: 8,
  promptImageBytesMax: 4 * 1024 * 1024,
  /** The reply to the requester, and what it names as evidence. */
  answerCharsMax: 16_000,
  evidenceMax: 200,
  /** Tasks of a run that an evaluation has a verdict about. */
  subtasksJudgedMax: 100,
  /** An access token of the Constellation MCP server is good for no longer. */
  editGrantMsMax: 24 * 60 * 60 * 1000,
  /** How long a revocation of such tokens is kept: longer than any that was signed before it, with clocks that differ. */
  grantRevocationMs: 24 * 60 * 60 * 1000 + 15 * 60 * 1000,
  /** Single tokens that one person may have revoked within that time. */
  grantRevocationsMax: 1_000,
  /** Tries after the first to get a reply that can be used. */
  replyRepairsMax: 3,
  /** What agents of a run have noted, as JSON; the oldest notes go first. */
  blackboardBytesMax: 8 * 1024,
  /** A value on the board of a run and all of them, as JSON; how many stand there; how often it is written, and how much in all. */
  boardValueBytesMax: 64 * 1024,
  boardBytesMax: 1024 * 1024,
  boardEntriesMax: 256,
  boardWritesMax: 10_000,
  boardWrittenBytesMax: 64 * 1024 * 1024,
  /** How deep a value is nested; and of how many bytes it is told in the answer to a write. */
  boardDepthMax: 32,
  boardAnsweredBytesMax: 8 * 1024,
  /** What an agent is told of the board at a time. */
  boardToldCharsMax: 68 * 1024,
  /** Labels of a request; of each of them the key, and the value. */
  labelsMax: 20,
  labelCharsMax: 63,
  /** What an administrator says of one device: names, the characters of one, all of it as JSON, and how deep a value is nested. */
  profileKeysMax: 64,
  profileKeyCharsMax: 128,
  profileBytesMax: 16 * 1024,
  profileDepthMax: 4,
  /** Commands about the profile of one device of which is remembered what was decided. */
  profileOrdersMax: 64,
  /** A note that somebody adds to a run, and how many a run takes. */
  noteCharsMax: 1_000,
  notesMax: 100,
  /** What somebody says to a run at a time, as long as a goal; how often, and how much in all, as JSON. */
  wordsCharsMax: 20_000,
  wordsMax: 200,
  wordsBytesMax: 256 * 1024,
  /** Of the conversation of a run, what is shown: the last ones. */
  conversationMax: 2_000,
  /** People, systems and external systems of an installation, those that were revoked among them. */
  actorsMax: 10_000,
  /** Of an external system, where nobody gave it more: connections at a time; of each of them, subscriptions and the bytes of a message. */
  externalConnectionsMax: 16,
  externalConnectionsGivenMax: 1_000,
  externalSubscriptionsMax: 200,
  externalPayloadBytesMax: 2 * 1024 * 1024,
  /** The same of a person: every terminal and program of his is one. */
  personConnectionsMax: 1_000,
  personSubscriptionsMax: 10_000,
  personPayloadBytesMax: 8 * 1024 * 1024,
  /** Requests that are taken of an external system in any minute, their bytes, and its runs that have not ended. */
  externalRequestsPerMinute: 6_000,
  externalBytesPerMinute: 256 * 1024 * 1024,
  externalOpenRuns: 10_000,
  /** The most that may be given of any of the three. */
  givenMax: 1_000_000_000,
  /** Messages of its feed that it has taken and not acknowledged. */
  externalAckPendingMax: 1_000,
  /** Of one actor: keys (revoked ones, too), tokens that are not revoked, logins. */
  actorKeysMax: 100,
  actorTokensMax: 100,
  actorLoginsMax: 20,
  loginCharsMax: 512,
  /** That a token was used is recorded at most this often. */
  tokenUseMs: 60 * 60 * 1000,
  /** What an entry of the inbox says, what its id is a hash of, and what people may say about one. */
  attentionCharsMax: 500,
  attentionKeyCharsMax: 400,
  attentionFactsMax: 100,
  /** A device that connects so often within this time comes and goes; it does no more when it was quiet for so long. */
  flapsMin: 5,
  flapsWithinMs: 10 * 60 * 1000,
  flapsQuietMs: 60 * 60 * 1000,
  /** Part of the room of a disk, or of what may be stored, from which on somebody has to make more. */
  storeTightFrom: 0.8,
  /** How long it is kept who read what, and how much of one writer about one actor. */
  accessMs: 400 * 24 * 60 * 60 * 1000,
  accessesPerSubjectMax: 1_000_000,
  /** Within this, what the same login reads again of the same is the same reading. */
  accessAgainMs: 60 * 60 * 1000,
  /** How long the answer of a verb is kept for who says it again; what followed from it is in the run for ever. */
  verbAnswersMs: 24 * 60 * 60 * 1000,
  verbAnswerMs: 4_000,
  submitAnswerMs: 5_000,
  commandAnswerMs: 10_000,
} as const;

export const DEFAULTS = {
  editDeadlineMs: 90_000,
  /** A model that adds work at every end of its plan would go on until the deadline of the run. */
  rounds: 100,
  taskTimeoutMs: 10 * 60 * 1000,
  runDeadlineMs: 24 * 60 * 60 * 1000,
  /** How long no connected device can take a ready task until the planner is asked, and until the task is given up. */
  deviceAskMs: 60_000,
  deviceWaitMs: 10 * 60 * 1000,
  deviceTasksMax: 8,
  /** The same of a foreign device, whose client executes one command after the other. */
  foreignTasksMax: 1,
  /** And of a device with a screen, whatever anybody says: there is one mouse, and one window in front. */
  screenTasksMax: 1,
  /** A person who says nothing for this long has said no; never longer than the attempt may take. */
  approvalMs: 15 * 60 * 1000,
  /** A standing approval of a plan, where nothing else is said. */
  contentApprovalDays: 90,
  stepsMax: 50,
  /** Tokens of a prompt that an agent's memory may fill. */
  memoryTokens: 8_000,
  /** Tokens of the constellation and the results in a prompt of the planner. */
  planTokens: 6_000,
  editGrantMs: 60 * 60 * 1000,
} as const;
