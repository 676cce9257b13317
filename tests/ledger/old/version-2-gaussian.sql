CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	sources TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,2,'town-2026','{"kind": "person", "column": "voter"}','added or removed','gaussian',NULL,NULL,'4',NULL,NULL,'13/36',2,'["votes, final count", "votes, first count"]','8eeb731590ef9ef1ba809b4e2f23c1e06a051163147566cddfe1ed529d6a3aee');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	source TEXT, 
	question TEXT NOT NULL, 
	mechanism TEXT, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:37+00:00','poll 0','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "gaussian", "mu": "1/2"}',NULL,NULL,'1/4','"red"','09587e7b53dc128ad5b671097ac7d24ba8514efe35172e879e46438ad38b3ef9');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:37+00:00',NULL,'votes, first count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "gaussian", "mu": "1/3"}',NULL,NULL,'1/9','"gr\u00fcn"','fa36b0cb7c8d540730f903cc743a3cde39b6fe63fe5c9329ebe63771357fe043');
