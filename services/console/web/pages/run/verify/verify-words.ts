import type { AuditReport } from '#libs/audit';

/** What is to be verified: records as the console exports them, and those of the run that it was forked from. */
export interface VerifyQuestion {
  readonly runId: string;
  readonly records: string;
  readonly parent: string | undefined;
}

export type VerifyAnswer =
  | {
      readonly kind: 'report';
      readonly report: AuditReport;
      readonly problems: readonly string[];
      readonly findings: readonly string[];
    }
  | { readonly kind: 'failure'; readonly message: string };
