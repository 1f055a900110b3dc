/** Thrown to abandon a step, or a piece before the first step, before any vertex has moved. */
export class StepAbandoned {}
