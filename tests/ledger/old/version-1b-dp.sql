CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,1,'dp','added or removed','3','1/100000',NULL,'7445805068304047801273845977179042083443/11909882842232846221218111260111887400960','1/1000000',NULL,3,'7ac149609e298119ad5acc7667d4ee68143584ad9ab88223accab7cd3b92a53a');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	question TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:36+00:00','poll 0','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind": "dp", "epsilon": "3/10", "delta": "1/1000000"}','3/10','1/1000000',NULL,'"red"','4db9407a6cbf39441279268321eb25ac1786be9be995f61d7886337e571eca8d');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:36+00:00',NULL,'{"among":["red","green"],"column":"choice","question":"winner"}','{"kind": "dp", "epsilon": "1/7", "delta": "0"}','1/7','0',NULL,'"gr\u00fcn"','adeee33210343c7c038ad3fe44128aa5bdc6e81afae3176f8db9557540402813');
INSERT INTO "rainbow_entries" VALUES(3,'2026-11-17T12:35:36+00:00','poll 2','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind": "dp", "ratio": "6/5", "delta": "0"}','62040810886557189074043987485332423025/340282366920938463463374607431768211456','0',NULL,NULL,'84006bf0896ee077bb9c1aef43acbfe6a43223b39a777837504b78fe428d3a89');
